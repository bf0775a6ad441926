"""Versions of bots that their authors send: upload, build, check, validation game, and which one plays."""
