"""From a model to its picture: scopes, boxes, layouts, and what pages tell of its items."""
