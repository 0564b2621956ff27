// An agent of LangGraph that calls two tools of the set "daily" in a loop. The model is scripted, so the example needs no
// key: to use a real one, replace the function model by (state) => yours.bindTools(tools).invoke(state.messages).
//
//   npm install PATH/clients/typescript @langchain/core @langchain/langgraph
//   ATELIER_URL=http://127.0.0.1:8002 ATELIER_TOKEN=… node langgraph.mjs
import { AIMessage, HumanMessage } from '@langchain/core/messages';
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { Client } from 'atelier-client';
import { toLangChainTools } from 'atelier-client/langchain';

const client = new Client(process.env.ATELIER_URL, process.env.ATELIER_TOKEN);
const tools = await toLangChainTools(client, 'daily');

/** Calls the weather tool first, then the tool that writes a text in capitals, and then answers. */
function model({ messages }) {
  const last = messages.at(-1);
  const call = (name, args) => new AIMessage({ content: '', tool_calls: [{ id: name, name, args }] });
  if (last.name === 'weather') return { messages: call('shout', { text: JSON.parse(last.content).text }) };
  if (last.name === 'shout') return { messages: new AIMessage(JSON.parse(last.content).text) };
  return { messages: call('weather', { city: last.content }) };
}

const agent = new StateGraph(MessagesAnnotation)
  .addNode('model', model)
  .addNode('tools', new ToolNode(tools))
  .addEdge(START, 'model')
  .addConditionalEdges('model', ({ messages }) => (messages.at(-1).tool_calls?.length ? 'tools' : END))
  .addEdge('tools', 'model')
  .compile();

const { messages } = await agent.invoke({ messages: [new HumanMessage('Oslo')] });
for (const message of messages) console.log(`${message.getType()}: ${message.content}`);
