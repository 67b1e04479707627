"""What every layer stands on: diagnostics, data types, spans of files, atomic writes.

Not here: any file format.
"""
