import 'react';

declare module 'react' {
  // Allows custom properties in style, with which components pass numbers to style sheets.
  interface CSSProperties {
    [name: `--${string}`]: string | number | undefined;
  }
}
