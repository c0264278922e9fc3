"""Models: the provider port, its wrappers and the wires they share.

Where to add what:

- a provider: ``providers/<name>.py`` with an ``ENTRY``, and its line in ``registry.BUILTIN``; one
  from outside is an entry point of the group ``octo_lab.providers`` (``plugins``);
- a dialect: ``wires/<name>/`` with ``request`` (pure, from request to JSON), ``reader`` (bytes in,
  events out, no I/O), ``validate`` (what the vendor would refuse) and ``wire``; its lines in
  ``wires.dialects`` and ``asked``, and what the test server says of it in ``testing/wires``;
- what a model wants, told from its name: a row of ``hints``; from a refusal: a rule of ``adjust``;
- a wrapper: a Provider that holds a Provider, in ``resilience`` or ``metering``;
- a price or a model: the dated data files of ``metering``.
"""
