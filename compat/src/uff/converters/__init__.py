"""Converters by format; there is one."""
