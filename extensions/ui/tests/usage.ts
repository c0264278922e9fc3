import type { Usage } from "../src/protocol/types";

export const USAGE: Usage = {
  input_tokens: 0,
  output_tokens: 0,
  cached_tokens: 0,
  written_tokens: 0,
  reasoning_tokens: 0,
  requests: 0,
  cost: 0,
  priced: 0,
};
