// Determines which programs need the type declarations of Node. They are large, so a program that uses nothing of Node
// does not load them.
const modules =
  'assert|assert/strict|async_hooks|buffer|child_process|cluster|console|constants|crypto|dgram|diagnostics_channel|dns|dns/promises|domain|events|fs|fs/promises|http|http2|https|inspector|module|net|os|path|path/posix|path/win32|perf_hooks|process|punycode|querystring|readline|readline/promises|repl|stream|stream/consumers|stream/promises|stream/web|string_decoder|sys|timers|timers/promises|tls|trace_events|tty|url|util|util/types|v8|vm|wasi|worker_threads|zlib';
const globals =
  'require\\(|__dirname|__filename|process[.?[]|global[.?[]|module\\.exports|exports\\.|navigator\\.|(?:new |instanceof |: )(?:Request|Blob|File|FormData)\\b|ReadableStream|WritableStream|TransformStream|TextDecoderStream|TextEncoderStream|CompressionStream|DecompressionStream|ByteLengthQueuingStrategy|CountQueuingStrategy|MessageChannel|MessagePort|MessageEvent|BroadcastChannel|CustomEvent|WebSocket|EventSource|WebAssembly|CryptoKey|PerformanceObserver|NodeJS\\.|typeof (?:process|global|module)\\b|=== global\\b';
// Members of globals that exist in goja too, but without these members.
const members =
  'crypto\\.(?:subtle|webcrypto)|performance\\.(?!now\\b|timeOrigin\\b)\\w|URL\\.(?:canParse|parse|createObjectURL|revokeObjectURL)|Response\\.(?:json|error|redirect)|\\.(?:unref|ref|hasRef)\\(|import\\.meta\\.(?:dirname|filename|url|resolve)';

const ofNode = new RegExp(
  `(?:from|import|require\\()\\s*\\(?['"](?:node:[\\w/]+|${modules})['"]|(?<![\\w.$'"])(?:${globals})|${members}`,
);

/**
 * Whether a program uses a module or a global that exists in Node but not in goja. It searches the text, so a name in a
 * comment counts too.
 */
export const namesNode = (text: string): boolean => ofNode.test(text);
