export default () => process.abort();
