"""Calls the fixture server with the protocol's official Python SDK, in whatever version its interpreter has.

python client.py EXPECTED-REVISION stdio PROGRAM | http URL
"""

import logging
import sys

import anyio
from mcp import ClientSession, McpError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client

revision, way, target = sys.argv[1:]

# What the SDK cannot read it logs, or hands to the handler of messages as an exception; nothing fails.
unread = []


class Listen(logging.Handler):
    def emit(self, record):
        unread.append(record.getMessage())


logging.getLogger("mcp").addHandler(Listen(level=logging.WARNING))


async def heard(message):
    if isinstance(message, Exception):
        unread.append(repr(message))


async def judge(session):
    begun = await session.initialize()
    assert begun.protocolVersion == revision, begun

    tools = {tool.name: tool for tool in (await session.list_tools()).tools}
    structured = tools["test_structured_content"]
    assert structured.inputSchema["properties"]["a"]["maximum"] == 1000, structured
    assert tools["test_simple_text"].annotations.readOnlyHint is True

    text = await session.call_tool("test_simple_text", {})
    assert not text.isError and "simple text" in text.content[0].text, text

    result = await session.call_tool("test_structured_content", {"a": 5, "b": 6})
    assert not result.isError and result.content[0].text == '{"sum":11}', result
    if revision >= "2025-06-18":
        assert structured.outputSchema["type"] == "object", structured
        assert result.structuredContent == {"sum": 11}, result
    else:
        # This version of the SDK keeps what it does not know.
        assert "structuredContent" not in result.model_dump(), result
        assert "outputSchema" not in structured.model_dump(), structured

    violation = await session.call_tool("test_structured_content", {"a": 5000, "b": 6})
    assert violation.isError and "only small numbers" in violation.content[0].text, violation

    failure = await session.call_tool("test_error_handling", {})
    assert failure.isError, failure

    audio = await session.call_tool("test_audio_content", {})
    assert audio.content[-1].type == "audio", audio

    progress = await session.call_tool("test_tool_with_progress", {})
    assert progress.content[0].text == "done", progress

    try:
        await session.call_tool("no_such_tool", {})
    except McpError as error:
        assert error.error.code == -32602, error
    else:
        raise AssertionError("a tool that is not there was called")
    await session.send_ping()


async def main():
    if way == "stdio":
        transport = stdio_client(StdioServerParameters(command=target, args=["stdio"]))
    else:
        transport = streamablehttp_client(target)
    async with transport as (read, write, *_), ClientSession(read, write, message_handler=heard) as session:
        await judge(session)
    assert not unread, unread


anyio.run(main)
