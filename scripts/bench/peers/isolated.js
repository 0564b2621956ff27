// A server for comparison: it runs JavaScript with isolated-vm behind node's HTTP server. Each request gets a new
// isolate in the same process. It has no schemas and stores no records. The answer is {"output": …}.
'use strict';
const { createServer } = require('node:http');
const ivm = require('isolated-vm');

async function run(code, input) {
  const isolate = new ivm.Isolate({ memoryLimit: 64 });
  try {
    const context = await isolate.createContext();
    const script = await isolate.compileScript(`${code}\n;JSON.stringify(main(JSON.parse(input)))`);
    await context.global.set('input', JSON.stringify(input));
    return await script.run(context, { timeout: 5000 });
  } finally {
    isolate.dispose();
  }
}

const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const { code, input } = JSON.parse(Buffer.concat(chunks).toString());
    run(code, input).then(
      (output) => response.end(`{"output":${output}}`),
      (fault) => response.writeHead(500).end(String(fault)),
    );
  });
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
