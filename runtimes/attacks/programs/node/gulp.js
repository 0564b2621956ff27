export default () => Buffer.alloc(2 ** 30, 1).length;
