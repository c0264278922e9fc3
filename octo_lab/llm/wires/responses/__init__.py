"""The OpenAI Responses dialect, in which the vendor's newer models are asked."""
