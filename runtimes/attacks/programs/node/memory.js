export default () => {
  const all = [];
  for (;;) all.push({ n: all.length });
};
