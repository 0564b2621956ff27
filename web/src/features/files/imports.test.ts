import { describe, expect, it } from 'vitest';
import type { Files } from '../../api/types';
import { moveFiles } from './imports';

const moving = (from: string, to: string) => (path: string) => (path === from ? to : path);

describe('imports follow a file', () => {
  it.each<[string, Files, [string, string], string, string]>([
    [
      'that is renamed',
      { 'main.ts': 'import { a } from \'./util\';\nconst b = await import("./util.ts");\n', 'util.ts': '' },
      ['util.ts', 'tools.ts'],
      'main.ts',
      'import { a } from \'./tools\';\nconst b = await import("./tools.ts");\n',
    ],
    [
      'into a folder',
      { 'main.js': "const a = require('./util.js');\n", 'util.js': '' },
      ['util.js', 'lib/util.js'],
      'main.js',
      "const a = require('./lib/util.js');\n",
    ],
    [
      'and those it has itself',
      { 'main.ts': "import './lib/a';\n", 'lib/a.ts': "import './b';\nimport '../main';\n", 'lib/b.ts': '' },
      ['lib/a.ts', 'a.ts'],
      'a.ts',
      "import './lib/b';\nimport './main';\n",
    ],
    [
      'said as .js, or as a folder',
      { 'main.ts': "import './util.js';\nimport './lib';\n", 'util.ts': '', 'lib/index.ts': '' },
      ['lib/index.ts', 'kit/index.ts'],
      'main.ts',
      "import './util.js';\nimport './kit';\n",
    ],
    [
      'but what is no file of the agent stays',
      { 'main.ts': "import 'util';\nimport './gone';\n", 'util.ts': '' },
      ['util.ts', 'tools.ts'],
      'main.ts',
      "import 'util';\nimport './gone';\n",
    ],
    [
      'in Python',
      { 'main.py': 'from helper import add\nimport helper\nprint(helper.add(1))\n', 'helper.py': '' },
      ['helper.py', 'tools.py'],
      'main.py',
      'from tools import add\nimport tools as helper\nprint(helper.add(1))\n',
    ],
    [
      'of a package',
      { 'main.py': 'import lib.util\nfrom lib import util\nlib.util.go()\n', 'lib/util.py': '' },
      ['lib/util.py', 'lib/tools.py'],
      'main.py',
      'import lib.tools\nfrom lib import tools as util\nlib.tools.go()\n',
    ],
    [
      'said relatively',
      { 'lib/main.py': 'from .util import go\n', 'lib/util.py': '' },
      ['lib/util.py', 'lib/tools.py'],
      'lib/main.py',
      'from .tools import go\n',
    ],
    [
      'out of its package',
      { 'lib/main.py': 'from .util import go\n', 'lib/util.py': '' },
      ['lib/main.py', 'main.py'],
      'main.py',
      'from lib.util import go\n',
    ],
  ])('%s', (_, files, [from, to], path, want) => {
    expect(moveFiles(files, moving(from, to))[path]).toBe(want);
  });

  it('and what is no text is left alone', () => {
    const files: Files = { 'a.bin': { base64: 'AA==' } };
    expect(moveFiles(files, moving('a.bin', 'b.bin'))).toEqual({ 'b.bin': { base64: 'AA==' } });
  });
});
