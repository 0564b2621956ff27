// The raw query string of the address. wouter's own useSearch decodes it, so that a reader would decode it twice and
// misread "50%25ab".
export { useSearch } from 'wouter/use-browser-location';
