// The search of the address as it stands there. That of wouter's main module is decoded already: whoever reads it decodes
// it twice, and takes "50%25ab" for something else than was typed.
export { useSearch } from 'wouter/use-browser-location';
