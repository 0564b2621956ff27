export default function (input, ctx) {
  const others = ['process', 'require', 'module', 'Deno', 'Bun', 'XMLHttpRequest', 'WebSocket', 'Worker', 'WebAssembly'];
  const root = console.log.constructor.constructor('return this')();
  return {
    reachable: others.filter((name) => name in globalThis || name in root),
    environment: Object.keys(ctx.env ?? {}),
  };
}
