"""Understands simple requests without a language model, and answers through real tools."""
