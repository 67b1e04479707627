"""Protocol Buffers over any buffer: schemas as data, messages that stay in their file.

`scan` reads one level of a message, `Message` gives its fields meaning, `text` and `json`
are the two written forms, `proto` reads the .proto files that name everything.

Not here: any particular schema, code generation, gRPC, editions, extensions.
"""
