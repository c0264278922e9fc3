"""What Gemini accepts, read as strictly as the published REST schema; names in camelCase."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from typing import Any

from octo_lab.llm.wires.checks import Problem, Refused, an_array, an_object, require
from octo_lab.llm.wires.gemini.validate_schema import check_schema

# fmt: off
_FIELDS = frozenset((
    "contents", "systemInstruction", "tools", "toolConfig", "generationConfig", "safetySettings",
    "cachedContent",
))
_GENERATION = frozenset((
    "candidateCount", "stopSequences", "maxOutputTokens", "temperature", "topP", "topK", "seed",
    "presencePenalty", "frequencyPenalty", "responseMimeType", "responseSchema",
    "responseJsonSchema", "responseLogprobs", "logprobs", "thinkingConfig", "mediaResolution",
    "responseModalities", "speechConfig", "enableEnhancedCivicAnswers", "imageConfig",
))
_DATA = frozenset((
    "text", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode",
    "codeExecutionResult",
))
_DECLARATION = frozenset((
    "name", "description", "behavior", "parameters", "parametersJsonSchema", "response",
    "responseJsonSchema",
))
# fmt: on
_PART = _DATA | {"thought", "thoughtSignature", "videoMetadata", "partMetadata"}
_LEVELS = ("MINIMAL", "LOW", "MEDIUM", "HIGH")
_MODES = ("AUTO", "ANY", "NONE", "VALIDATED")
_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}", re.ASCII)
_MIME = re.compile(r"(image|audio|video|text|application)/[a-z0-9.+-]+")
_MOST_STOPS = 5
_MOST_TOOLS = 512


def request_problem(body: object) -> Problem | None:
    """The first reason why the vendor would answer 400 to this request, or None."""
    try:
        _request(an_object(body, "body"))
    except Refused as exc:
        return exc.problem
    return None


def _request(body: Mapping[str, Any]) -> None:
    _known(body, _FIELDS, "")
    if "systemInstruction" in body:
        system = an_object(body["systemInstruction"], "system_instruction")
        _known(system, frozenset({"role", "parts"}), "system_instruction")
        for kind in _parts(system, "system_instruction"):
            require(kind == "text", "only text is allowed", "system_instruction.parts")
    names = _tools(body)
    _tool_config(body, names)
    _generation_config(an_object(body.get("generationConfig", {}), "generation_config"))
    _contents(body.get("contents"))


def _known(value: Mapping[str, Any], names: frozenset[str], where: str) -> None:
    place = f" at {where!r}" if where else ""
    for name in value:
        message = f'Invalid JSON payload received. Unknown name "{name}"{place}: Cannot find field.'
        require(name in names, message, f"{where}.{name}".lstrip("."))


def _name(value: object, where: str) -> str:
    fits = isinstance(value, str) and _NAME.fullmatch(value) is not None
    require(fits, f"Invalid function name {value!r}: must start with a letter or _", where)
    return str(value)


def _tools(body: Mapping[str, Any]) -> list[str]:
    """The names of the functions that the request declares."""
    names: list[str] = []
    for index, tool in enumerate(an_array(body.get("tools", []), "tools")):
        where = f"tools[{index}]"
        tool = an_object(tool, where)
        _known(tool, frozenset({"functionDeclarations"}), where)
        declared = an_array(tool.get("functionDeclarations"), f"{where}.function_declarations")
        require(bool(declared), "tools: at least one is required", where)
        for number, one in enumerate(declared):
            names.append(_declaration(one, f"{where}.function_declarations[{number}]"))
    require(len(names) <= _MOST_TOOLS, f"at most {_MOST_TOOLS} functions", "tools")
    require(len(set(names)) == len(names), "Duplicate function declaration found", "tools")
    return names


def _declaration(one: object, where: str) -> str:
    declared = an_object(one, where)
    _known(declared, _DECLARATION, where)
    for name in ("parameters", "response"):
        both = name in declared and f"{name}JsonSchema" in declared
        require(not both, f"{name} and {name}JsonSchema are mutually exclusive", where)
        an_object(declared.get(f"{name}JsonSchema", {}), f"{where}.{name}_json_schema")
    said = declared.get("description")
    require(isinstance(said, str) and bool(said), "description is missing", where)
    if "parameters" in declared:
        parameters = an_object(declared["parameters"], f"{where}.parameters")
        check_schema(parameters, f"{where}.parameters")
        fits = parameters.get("type") == "OBJECT" and bool(parameters.get("properties"))
        message = f"{where}.parameters.properties: should be non-empty for OBJECT type"
        require(fits, message, f"{where}.parameters")
    return _name(declared.get("name"), f"{where}.name")


def _tool_config(body: Mapping[str, Any], names: Sequence[str]) -> None:
    if "toolConfig" not in body:
        return
    require(bool(names), "Function calling config is set without function_declarations.", "tools")
    config = an_object(body["toolConfig"], "tool_config")
    _known(config, frozenset({"functionCallingConfig"}), "tool_config")
    where = "tool_config.function_calling_config"
    calling = an_object(config.get("functionCallingConfig"), where)
    _known(calling, frozenset({"mode", "allowedFunctionNames"}), where)
    mode = calling.get("mode")
    require(mode in _MODES, f"Invalid value at {where!r}: {mode!r}", f"{where}.mode")
    if "allowedFunctionNames" in calling:
        place = f"{where}.allowed_function_names"
        require(mode in ("ANY", "VALIDATED"), "only allowed when the mode is ANY", place)
        allowed = an_array(calling["allowedFunctionNames"], place)
        known = bool(allowed) and all(name in names for name in allowed)
        require(known, "allowed_function_names must be declared functions", place)


def _generation_config(config: Mapping[str, Any]) -> None:
    where = "generation_config"
    _known(config, _GENERATION, where)
    size = config.get("maxOutputTokens", 1)
    require(type(size) is int and size >= 1, "must be positive", f"{where}.max_output_tokens")
    heat = config.get("temperature", 1)
    fits = type(heat) in (int, float) and 0 <= heat <= 2
    require(fits, "must be in the range [0, 2]", f"{where}.temperature")
    stops = an_array(config.get("stopSequences", []), f"{where}.stop_sequences")
    fits = len(stops) <= _MOST_STOPS and all(isinstance(one, str) and one for one in stops)
    require(fits, f"at most {_MOST_STOPS} texts", f"{where}.stop_sequences")
    mime = config.get("responseMimeType", "text/plain")
    fits = mime in ("text/plain", "application/json", "text/x.enum")
    require(fits, f"unsupported {mime!r}", f"{where}.response_mime_type")
    if "responseSchema" in config:
        require(mime == "application/json", "needs JSON", f"{where}.response_mime_type")
        check_schema(config["responseSchema"], f"{where}.response_schema")
    _thinking(an_object(config.get("thinkingConfig", {}), f"{where}.thinking_config"))


def _thinking(config: Mapping[str, Any]) -> None:
    where = "generation_config.thinking_config"
    _known(config, frozenset({"includeThoughts", "thinkingBudget", "thinkingLevel"}), where)
    require(type(config.get("includeThoughts", True)) is bool, "must be a boolean", where)
    level = config.get("thinkingLevel", "LOW")
    require(level in _LEVELS, f"Invalid value: {level!r}", f"{where}.thinking_level")
    budget = config.get("thinkingBudget", 0)
    fits = type(budget) is int and -1 <= budget <= 32768
    require(fits, "The thinking budget is out of range", f"{where}.thinking_budget")
    both = "thinkingLevel" in config and "thinkingBudget" in config
    require(not both, "You can only set only one of thinking budget and thinking level.", where)


_COUNT = (
    "Please ensure that the number of function response parts is equal to the number of function "
    "call parts of the function call turn."
)
_ORDER = (
    "Please ensure that function call turn comes immediately after a user turn or after a "
    "function response turn."
)


def _contents(contents: object) -> None:
    turns = an_array(contents, "contents")
    require(bool(turns), "contents are required", "contents")
    open_calls: list[tuple[str, str]] = []
    last = ""
    for index, item in enumerate(turns):
        where = f"contents[{index}]"
        turn = an_object(item, where)
        _known(turn, frozenset({"role", "parts"}), where)
        role = turn.get("role")
        require(role in ("user", "model"), "Please use a valid role: user, model.", where)
        require(index > 0 or role == "user", _ORDER, where)
        require(role == "user" or last != "model", _ORDER, where)
        kinds = _parts(turn, where)
        answers = "functionResponse" in kinds
        if answers:
            alone = set(kinds) == {"functionResponse"}
            require(alone, "function responses cannot be mixed with other parts", where)
        require(answers == bool(open_calls), _COUNT, where)
        named = _named(turn, "functionResponse") if answers else []
        require(sorted(named) == sorted(open_calls), _COUNT, where)
        _only_from(str(role), kinds, where)
        open_calls = _named(turn, "functionCall")
        last = str(role)
    require(not open_calls, _COUNT, "contents")


def _only_from(role: str, kinds: Sequence[str], where: str) -> None:
    theirs = {"functionResponse", "inlineData"} if role == "model" else {"functionCall"}
    require(not theirs & set(kinds), f"not allowed with the role {role!r}", where)


def _named(turn: Mapping[str, Any], kind: str) -> list[tuple[str, str]]:
    found = [part[kind] for part in turn["parts"] if kind in part]
    return [(str(one.get("id", "")), str(one["name"])) for one in found]


def _parts(turn: Mapping[str, Any], where: str) -> list[str]:
    """The kind of each part."""
    parts = an_array(turn.get("parts"), f"{where}.parts")
    require(bool(parts), "Unable to submit request: must include at least one parts field", where)
    return [_part(part, f"{where}.parts[{index}]") for index, part in enumerate(parts)]


def _part(value: object, where: str) -> str:
    part = an_object(value, where)
    _known(part, _PART, where)
    kinds = [name for name in part if name in _DATA]
    require(len(kinds) == 1, f"{where}.data: required oneof field 'data' must have one", where)
    signature = part.get("thoughtSignature")
    fits = signature is None or (isinstance(signature, str) and _is_base64(signature))
    require(fits, f"Invalid value at '{where}.thought_signature' (TYPE_BYTES)", where)
    require(type(part.get("thought", True)) is bool, "thought: no boolean", where)
    match kinds[0]:
        case "text":
            text = part["text"]
            fits = isinstance(text, str) and bool(text.strip() or signature)
            require(fits, "text: must not be empty", f"{where}.text")
        case "inlineData":
            _inline(an_object(part["inlineData"], where), f"{where}.inline_data")
        case "functionCall":
            call = an_object(part["functionCall"], where)
            _known(call, frozenset({"id", "name", "args"}), f"{where}.function_call")
            _name(call.get("name"), f"{where}.function_call.name")
            an_object(call.get("args", {}), f"{where}.function_call.args")
        case "functionResponse":
            answer = an_object(part["functionResponse"], where)
            known = frozenset({"id", "name", "response"})
            _known(answer, known, f"{where}.function_response")
            _name(answer.get("name"), f"{where}.function_response.name")
            an_object(answer.get("response"), f"{where}.function_response.response")
        case _:
            pass
    return kinds[0]


def _inline(data: Mapping[str, Any], where: str) -> None:
    _known(data, frozenset({"mimeType", "data"}), where)
    mime = data.get("mimeType")
    fits = isinstance(mime, str) and _MIME.fullmatch(mime) is not None and mime != "image/gif"
    require(fits, f"Unsupported MIME type: {mime}", f"{where}.mime_type")
    body = data.get("data")
    fits = isinstance(body, str) and bool(body) and _is_base64(body)
    require(fits, f"Invalid value at '{where}.data' (TYPE_BYTES)", where)


def _is_base64(text: str) -> bool:
    """Of either alphabet, as the vendor reads it."""
    try:
        base64.b64decode(text.replace("-", "+").replace("_", "/"), validate=True)
    except (binascii.Error, ValueError):
        return False
    return True
