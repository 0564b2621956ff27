import type { Tool } from './recipes';

const read = (manifest: string): string => `with open("${manifest}", encoding="utf-8") as file:
    tool = json.load(file)`;

/**
 * Code of a function that calls the tool. It also returns errors about wrong arguments as an answer, so that the model
 * can read them and try again.
 */
const call = ({ origin, name, version }: Tool): string => `
def call(arguments):
    """Returns {"output": …}, or {"errors": [{"pointer", "message"}]} for the model, which tries again."""
    request = urllib.request.Request(
        "${origin}/api/v1/code-agents/${name}/execute",
        json.dumps({"version": "${version}", "input": arguments}).encode(),
        {"Authorization": "Bearer " + os.environ["ATELIER_TOKEN"], "Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request) as answer:
            run = json.load(answer)
    except urllib.error.HTTPError as refused:
        run = json.load(refused)
    if run.get("success"):
        return {"output": run["output"]}
    message = (run.get("error") or {}).get("message") or run.get("detail")
    errors = run.get("errors") or [{"message": message}]
    return {"errors": [{"pointer": e.get("pointer", "").removeprefix("/input"), "message": e["message"]} for e in errors]}


def text(result):
    return json.dumps(result if "errors" in result else result["output"], ensure_ascii=False)
`;

const parsed = `
def call_with(arguments):
    try:
        arguments = json.loads(arguments)
    except ValueError:
        return {"errors": [{"pointer": "", "message": "The arguments are not valid JSON."}]}
    return call(arguments)

`;

const imports = (...more: string[]): string =>
  ['json', 'os', 'sys', 'urllib.error', 'urllib.request'].map((name) => `import ${name}`).join('\n') +
  '\n\n' +
  more.join('\n');

const programs: Record<string, (tool: Tool, manifest: string) => string> = {
  openai: (tool, manifest) => `${imports('from openai import OpenAI')}

${read(manifest)}

${call(tool)}
${parsed}
client = OpenAI()
messages = [{"role": "user", "content": sys.argv[1]}]
for turn in range(20):
    answer = client.chat.completions.create(model=os.environ["MODEL"], messages=messages, tools=[tool])
    message = answer.choices[0].message
    messages.append(message.model_dump(exclude_none=True))
    if not message.tool_calls:
        break
    for asked in message.tool_calls:
        content = text(call_with(asked.function.arguments))
        messages.append({"role": "tool", "tool_call_id": asked.id, "content": content})
print(message.content)
`,
  'openai-responses': (tool, manifest) => `${imports('from openai import OpenAI')}

${read(manifest)}

${call(tool)}
${parsed}
client = OpenAI()
tools = [{"type": "function", "strict": False, **tool["function"]}]  # the same tool, one level flatter
messages = [{"role": "user", "content": sys.argv[1]}]
for turn in range(20):
    answer = client.responses.create(model=os.environ["MODEL"], input=messages, tools=tools)
    messages += [item.model_dump(exclude_none=True) for item in answer.output]
    calls = [item for item in answer.output if item.type == "function_call"]
    if not calls:
        break
    for asked in calls:
        output = text(call_with(asked.arguments))
        messages.append({"type": "function_call_output", "call_id": asked.call_id, "output": output})
print(answer.output_text)
`,
  anthropic: (tool, manifest) => `${imports('from anthropic import Anthropic')}

${read(manifest)}

${call(tool)}

client = Anthropic()
messages = [{"role": "user", "content": sys.argv[1]}]
for turn in range(20):
    answer = client.messages.create(model=os.environ["MODEL"], max_tokens=2048, messages=messages, tools=[tool])
    messages.append({"role": "assistant", "content": [block.model_dump(exclude_none=True) for block in answer.content]})
    if answer.stop_reason != "tool_use":
        break
    results = []
    for block in answer.content:
        if block.type == "tool_use":
            result = call(block.input)
            results.append({"type": "tool_result", "tool_use_id": block.id, "is_error": "errors" in result, "content": text(result)})
    messages.append({"role": "user", "content": results})
print("".join(block.text for block in answer.content if block.type == "text"))
`,
  gemini: (tool, manifest) => `${imports('from google import genai', 'from google.genai import types')}

${read(manifest)}

${call(tool)}

client = genai.Client(api_key=os.environ["GEMINI_API_KEY"])
config = types.GenerateContentConfig(tools=[types.Tool.model_validate(tool)])
contents = [types.Content(role="user", parts=[types.Part(text=sys.argv[1])])]
for turn in range(20):
    answer = client.models.generate_content(model=os.environ["MODEL"], contents=contents, config=config)
    contents.append(answer.candidates[0].content)
    if not answer.function_calls:
        break
    parts = [
        types.Part(function_response=types.FunctionResponse(id=asked.id, name=asked.name, response=call(asked.args or {})))
        for asked in answer.function_calls
    ]
    contents.append(types.Content(role="user", parts=parts))
print(answer.text)
`,
  langchain: (tool, manifest) => `${imports('from langchain_core.tools import StructuredTool')}

${read(manifest)}

${call(tool)}

def run(**arguments):
    return text(call(arguments))


# The server checks the arguments, and the model reads what is wrong with them.
tool = StructuredTool.from_function(run, name=tool["name"], description=tool["description"], args_schema=tool["schema"])
`,
  mcp: (
    tool,
    manifest,
  ) => `${imports('import asyncio', 'from mcp import types', 'from mcp.server.lowlevel import Server', 'from mcp.server.stdio import stdio_server')}

${read(manifest)}

${call(tool)}

async def list_tools(context, params):
    return types.ListToolsResult(tools=[types.Tool.model_validate(tool)])


async def call_tool(context, params):
    result = await asyncio.to_thread(call, params.arguments or {})
    content = [types.TextContent(type="text", text=text(result))]
    if "errors" in result:
        return types.CallToolResult(content=content, is_error=True)
    structured = result["output"] if tool.get("outputSchema") else None
    return types.CallToolResult(content=content, structured_content=structured)


async def main():
    server = Server(tool["name"], version="${tool.version}", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


asyncio.run(main())
`,
};

export const python = (program: string, tool: Tool, manifest: string): string =>
  programs[program]?.(tool, manifest) ?? '';
