// A server for comparison if isolated-vm is not available. It uses node's HTTP server and runs each request in a new
// context of node:vm. Such a context is no security boundary. The answer is {"output": …}.
'use strict';
const { createServer } = require('node:http');
const vm = require('node:vm');

const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const { code, input } = JSON.parse(Buffer.concat(chunks).toString());
    const context = vm.createContext({ input: JSON.stringify(input) });
    response.end(`{"output":${new vm.Script(`${code}\n;JSON.stringify(main(JSON.parse(input)))`).runInContext(context, { timeout: 5000 })}}`);
  });
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
