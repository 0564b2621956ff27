// Which programs need Node's declarations. They are large, so that a program which names nothing of Node does without them.
const modules =
  'assert|assert/strict|async_hooks|buffer|child_process|cluster|console|constants|crypto|dgram|diagnostics_channel|dns|dns/promises|domain|events|fs|fs/promises|http|http2|https|inspector|module|net|os|path|path/posix|path/win32|perf_hooks|process|punycode|querystring|readline|readline/promises|repl|stream|stream/consumers|stream/promises|stream/web|string_decoder|sys|timers|timers/promises|tls|trace_events|tty|url|util|util/types|v8|vm|wasi|worker_threads|zlib';
const globals =
  'require\\(|__dirname|__filename|process[.?[]|global[.?[]|module\\.exports|exports\\.|navigator\\.|(?:new |instanceof |: )(?:Request|Blob|File|FormData)\\b|ReadableStream|WritableStream|TransformStream|TextDecoderStream|TextEncoderStream|CompressionStream|DecompressionStream|ByteLengthQueuingStrategy|CountQueuingStrategy|MessageChannel|MessagePort|MessageEvent|BroadcastChannel|CustomEvent|WebSocket|EventSource|WebAssembly|CryptoKey|PerformanceObserver|NodeJS\\.|typeof (?:process|global|module)\\b|=== global\\b';
// Members of globals that goja has as well, but without these.
const members =
  'crypto\\.(?:subtle|webcrypto)|performance\\.(?!now\\b|timeOrigin\\b)\\w|URL\\.(?:canParse|parse|createObjectURL|revokeObjectURL)|Response\\.(?:json|error|redirect)|\\.(?:unref|ref|hasRef)\\(|import\\.meta\\.(?:dirname|filename|url|resolve)';

const ofNode = new RegExp(
  `(?:from|import|require\\()\\s*\\(?['"](?:node:[\\w/]+|${modules})['"]|(?<![\\w.$'"])(?:${globals})|${members}`,
);

/** Whether a program names a module or a global that Node has and goja has not. It reads text: a name in a comment counts. */
export const namesNode = (text: string): boolean => ofNode.test(text);
