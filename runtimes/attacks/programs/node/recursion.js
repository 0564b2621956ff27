const dive = (n) => dive(n + 1) + 1;

export default () => dive(0);
