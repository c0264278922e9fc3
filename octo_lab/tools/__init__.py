"""What the agent can do: the tool value, its policy and the registry."""
