"""``octo chat``: a Textual screen over a conversation."""
