export default () => {
  for (;;) console.log("0123456789".repeat(100));
};
