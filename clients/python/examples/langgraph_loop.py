"""An agent of LangGraph that calls two tools of the set "daily" in a loop.

The model is scripted, so the example needs no key. To use a real one, replace the function model by
lambda state: {"messages": yours.bind_tools(tools).invoke(state["messages"])}.

    pip install 'PATH/clients/python[langchain]' langgraph
    ATELIER_URL=http://127.0.0.1:8002 ATELIER_TOKEN=… python langgraph_loop.py
"""

import json
import os

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from atelier_client import Client
from atelier_client.langchain import to_langchain_tools

client = Client(os.environ["ATELIER_URL"], os.environ["ATELIER_TOKEN"])
tools = to_langchain_tools(client, "daily")


def call(name: str, arguments: dict[str, object]) -> dict[str, object]:
    tool_call = {"id": name, "name": name, "args": arguments}
    return {"messages": [AIMessage(content="", tool_calls=[tool_call])]}


def model(state: MessagesState) -> dict[str, object]:
    """Calls the weather tool, then the tool that writes a text in capitals, and then answers."""
    last = state["messages"][-1]
    if last.name == "weather":
        return call("shout", {"text": json.loads(str(last.content))["text"]})
    if last.name == "shout":
        return {"messages": [AIMessage(content=json.loads(str(last.content))["text"])]}
    return call("weather", {"city": last.content})


graph = StateGraph(MessagesState)
graph.add_node("model", model)
graph.add_node("tools", ToolNode(tools))
graph.add_edge(START, "model")
graph.add_conditional_edges("model", tools_condition)
graph.add_edge("tools", "model")
agent = graph.compile()

for message in agent.invoke({"messages": [HumanMessage("Oslo")]})["messages"]:
    print(f"{message.type}: {message.content}")
