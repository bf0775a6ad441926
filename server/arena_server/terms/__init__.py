"""What an organiser decides before a contest begins."""
