// Returns the query string of the URL without decoding it. wouter's useSearch decodes it. A reader would then decode it
// a second time and misread "50%25ab".
export { useSearch } from 'wouter/use-browser-location';
