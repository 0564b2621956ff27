bomb() { bomb | bomb; }
bomb
