"""Web pages made readable, and engines that find them."""
