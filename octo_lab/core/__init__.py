"""Words every part uses: errors, messages, events, ids, clock, text, registry."""
