import { useRef } from 'react';
import { Button } from '../ui/Button';
import { moduleInput as say } from '../texts/files';

interface Props {
  label: string;
  onChoose: (file: File | undefined) => void;
}

/** A button that opens a file dialog for WebAssembly modules. */
export function ModuleInput({ label, onChoose }: Props) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button onClick={() => input.current?.click()}>{label}</Button>
      <input
        ref={input}
        type="file"
        accept=".wasm,application/wasm"
        aria-label={say.module}
        hidden
        onChange={(e) => {
          onChoose(e.target.files?.[0]);
          e.target.value = ''; // reset, so that the user can select the same file again
        }}
      />
    </>
  );
}
