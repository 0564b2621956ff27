export default async function (input, ctx) {
  const report = (canary, way, reached, detail) => console.log([canary, way, reached ? 'reached' : 'refused', String(detail).slice(0, 200)].join('\t'));
  const attempt = async (canary, way, search) => {
    try {
      const value = await search();
      report(canary, way, value !== undefined && value !== null && value !== false, value);
    } catch (error) {
      report(canary, way, false, error);
    }
  };
  const root = console.log.constructor.constructor('return this')();
  for (const name of ['fs', 'node:fs', 'child_process', input.file, '../../../../../..' + input.file, 'file://' + input.file]) {
    await attempt('file', 'import ' + name, () => import(name));
    await attempt('file', 'require ' + name, () => root.require(name));
  }
  await attempt('file', 'a source map', () => eval('null\n//# sourceMappingURL=file://' + input.file));
  for (const address of input.addresses) {
    await attempt('network', 'fetch ' + address, () => root.fetch('http://' + address + ':' + input.tcp));
  }
  await attempt('network', 'XMLHttpRequest', () => new root.XMLHttpRequest());
  await attempt('network', 'WebSocket', () => new root.WebSocket('ws://127.0.0.1:' + input.tcp));
  await attempt('environment', 'ctx.env', () => Object.keys(ctx.env ?? {}).length > 0 && JSON.stringify(ctx.env));
  await attempt('environment', 'process.env', () => root.process.env);
  await attempt('other run', 'globals', () => root.neighbour ?? (Object.keys(root).length > 0 && Object.keys(root).join()));
}
