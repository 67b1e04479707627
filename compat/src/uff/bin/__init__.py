"""The command `convert-to-uff`."""
