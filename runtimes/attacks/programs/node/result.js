export default () => "x".repeat(2 ** 24);
