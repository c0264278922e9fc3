"""One message: bounded queues, lanes and delivery between the world and the sessions."""
