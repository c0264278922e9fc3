"""Which ideas make an injection when one sentence holds them together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "SystemOverride",
    "RoleConfusion",
    "ToolCallInjection",
    "SecretExtraction",
    "InstructionInjection",
]


@dataclass(frozen=True, slots=True)
class Rule:
    """``ideas`` of one sentence, or one ``pattern`` of the folded text, and how much it weighs."""

    ideas: str
    weight: float
    kind: Kind
    reason: str


@dataclass(frozen=True, slots=True)
class Shape:
    """A pattern (RE2) of the folded text: what no ordinary page has to write."""

    pattern: str
    weight: float
    kind: Kind
    reason: str


RULES = (
    Rule(
        "override orders prior", 0.85, "SystemOverride", "tells the model to drop its instructions"
    ),
    Rule("override orders", 0.3, "SystemOverride", "speaks of dropping instructions"),
    Rule("override rules prior", 0.5, "SystemOverride", "tells the model to drop its rules"),
    Rule("override everything", 0.65, "SystemOverride", "tells the model to forget what was said"),
    Rule(
        "override everything unbound", 0.9, "SystemOverride", "tells the model to forget its rules"
    ),
    Rule("override unbound", 0.6, "SystemOverride", "asks for no rules"),
    Rule("renewed", 0.3, "SystemOverride", "gives new instructions"),
    Rule("renewed must", 0.75, "SystemOverride", "gives new instructions that must be followed"),
    Rule("renewed future", 0.75, "SystemOverride", "gives new instructions from now on"),
    Rule("renewed override", 0.75, "SystemOverride", "replaces the instructions"),
    Rule("renewed secrets", 0.8, "SecretExtraction", "gives a new task: secrets"),
    Rule("safety waived", 0.75, "SystemOverride", "declares the safety rules void"),
    Rule("safety override", 0.75, "SystemOverride", "tells the model to drop the safety rules"),
    Rule("granted unbound", 0.8, "SystemOverride", "claims a permission"),
    Rule("granted waived", 0.7, "SystemOverride", "claims a permission"),
    Rule("granted safety", 0.7, "SystemOverride", "claims a permission"),
    Rule("granted obey", 0.6, "SystemOverride", "claims a permission"),
    Rule("persona unbound", 0.85, "RoleConfusion", "gives the model another role without rules"),
    Rule("persona", 0.3, "RoleConfusion", "gives the model another role"),
    Rule("future unbound", 0.8, "RoleConfusion", "asks for no rules from now on"),
    Rule("future override", 0.6, "SystemOverride", "asks for other behaviour from now on"),
    Rule("future reveal secrets", 0.7, "SecretExtraction", "asks for secrets from now on"),
    Rule("future must", 0.4, "InstructionInjection", "asks for other behaviour from now on"),
    Rule("future include", 0.55, "InstructionInjection", "asks for words in later answers"),
    Rule("obey unbound", 0.75, "RoleConfusion", "asks to obey without rules"),
    Rule("notice unbound", 0.8, "RoleConfusion", "poses as the system"),
    Rule("notice waived", 0.8, "RoleConfusion", "poses as the system"),
    Rule("notice must", 0.55, "RoleConfusion", "poses as the system"),
    Rule("notice include", 0.6, "RoleConfusion", "poses as the system"),
    Rule("notice harm", 0.7, "RoleConfusion", "poses as the system"),
    Rule("notice egress", 0.6, "RoleConfusion", "poses as the system"),
    Rule("notice", 0.2, "RoleConfusion", "poses as the system"),
    Rule("reveal prompt", 0.7, "SecretExtraction", "asks for the system prompt"),
    Rule("betray secrets", 0.75, "SecretExtraction", "asks for secrets"),
    Rule("betray prompt", 0.75, "SecretExtraction", "asks for internals"),
    Rule("reveal secrets agent", 0.65, "SecretExtraction", "asks the model for secrets"),
    Rule("renewed reveal", 0.75, "SecretExtraction", "gives a new task: to reveal"),
    Rule("egress secrets target", 0.8, "SecretExtraction", "asks to send private data away"),
    Rule("egress cargo target", 0.4, "InstructionInjection", "asks to send data away"),
    Rule("egress cargo target finish", 0.8, "InstructionInjection", "asks to send data away"),
    Rule("egress secrets finish", 0.75, "SecretExtraction", "asks to send private data away"),
    Rule("egress secrets hide", 0.8, "SecretExtraction", "asks to send private data in secret"),
    Rule("tool egress", 0.55, "ToolCallInjection", "names a tool to send data with"),
    Rule("tool finish", 0.65, "ToolCallInjection", "names a tool to call before the answer"),
    Rule("tool harm finish", 0.8, "ToolCallInjection", "names a tool to delete with"),
    Rule("tool hide", 0.65, "ToolCallInjection", "names a tool to call in secret"),
    Rule("tool agent", 0.5, "ToolCallInjection", "tells agents to call a tool"),
    Rule("finish include", 0.55, "InstructionInjection", "dictates the answer"),
    Rule("finish egress", 0.55, "InstructionInjection", "gives a task before the answer"),
    Rule("finish harm", 0.55, "InstructionInjection", "gives a task before the answer"),
    Rule("finish reveal prompt", 0.8, "SecretExtraction", "asks for the system prompt"),
    Rule("finish must", 0.55, "InstructionInjection", "dictates the answer"),
    Rule("agent must", 0.35, "InstructionInjection", "speaks to AI agents"),
    Rule("agent harm", 0.55, "InstructionInjection", "tells AI agents to change things"),
    Rule("agent override", 0.6, "SystemOverride", "tells AI agents to ignore something"),
    Rule("agent egress target", 0.6, "InstructionInjection", "tells AI agents to send data"),
    Rule("agent finish", 0.6, "InstructionInjection", "speaks to AI agents"),
    Rule("agent hide", 0.6, "InstructionInjection", "tells AI agents to act in secret"),
    Rule("hide egress", 0.55, "InstructionInjection", "asks to send data in secret"),
    Rule("hide harm", 0.45, "InstructionInjection", "asks for deeds in secret"),
    Rule("hide obey", 0.6, "InstructionInjection", "asks for blind obedience"),
    Rule("decode obey", 0.65, "InstructionInjection", "asks to obey what is encoded"),
    Rule("decode harm hide", 0.65, "InstructionInjection", "asks to obey what is encoded"),
    Rule("memory include", 0.5, "InstructionInjection", "wants to stay in the memory"),
    Rule("memory future", 0.7, "InstructionInjection", "wants to stay in the memory"),
    Rule("memory override", 0.7, "InstructionInjection", "wants to stay in the memory"),
    Rule("memory hide", 0.6, "InstructionInjection", "wants to stay in the memory"),
)

SHAPES = (
    Shape(
        r"<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id)\|>",
        0.6,
        "RoleConfusion",
        "has the marks of a chat template",
    ),
    Shape(r"\[/?inst\]|<</?sys>>", 0.6, "RoleConfusion", "has the marks of a chat template"),
    Shape(
        r"(?m)^[ \t>#*]*(?:\[|<)/?(?:system|developer|system_prompt|admin)(?:\]|>)",
        0.5,
        "RoleConfusion",
        "has a forged system tag",
    ),
    Shape(
        r"(?m)^[ \t]*(?:#{2,}|-{3,}|={3,}|\*{3,})[ \t]*(?:end|begin|start|new) (?:of )?(?:the )?"
        r"(?:user|system|tool|document|context|previous|input|output|data|instructions|untrusted)",
        0.5,
        "RoleConfusion",
        "has a forged end of the data",
    ),
    Shape(
        r"(?m)^[ \t>*\"]*(?:system|assistant|developer|systeme|sistema|系统|система|システム)"
        r"[ \t]*(?::|：)[ \t]*[^\n]{0,40}(?:you |must|grant|user|override|required|ignore|"
        r"call |now |du |tu |vous |usted|必须|you're)",
        0.55,
        "RoleConfusion",
        "speaks as the system",
    ),
    Shape(
        r"<(?:thinking|thought|scratchpad)>[^<]{0,400}(?:disregard|ignore|bypass|comply|without "
        r"restriction|not apply|authorized)",
        0.7,
        "RoleConfusion",
        "forges the model's own thoughts",
    ),
    Shape(
        r"<(?:tool_call|function_call|function_calls|invoke|tool_use|antml:invoke)\b",
        0.6,
        "ToolCallInjection",
        "has the markup of a tool call",
    ),
    Shape(
        r"\{\s{0,8}\"(?:name|tool|function)\"\s{0,8}:\s{0,8}\"[a-z_.-]{2,40}\"\s{0,8},\s{0,8}"
        r"\"(?:arguments|parameters|args|input)\"\s{0,8}:",
        0.5,
        "ToolCallInjection",
        "has the JSON of a tool call",
    ),
    Shape(
        r"!\[[^\]\n]{0,80}\]\(https?://[^)\n]{0,200}(?:[?&][a-z_]{1,20}=\{|\{\{|<data>|\$\{|"
        r"\[(?:data|secret|conversation))",
        0.7,
        "SecretExtraction",
        "has a picture address that would carry data away",
    ),
)
