"""The modern XO player: pattern tables kept up to date, searches for threats, alpha-beta with a table."""
