"""The server: its address, who may ask, and what is answered."""
