export default () => {
  const seen = [({}).mark, globalThis.mark, URL.mark].filter(Boolean).length;
  Object.prototype.mark = globalThis.mark = 1;
  try {
    URL.mark = 1;
  } catch {} // it is frozen
  setInterval(() => { globalThis.late = 1; }, 1);
  return seen;
};
