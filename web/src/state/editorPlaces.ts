// Stores the files and tabs of the current screen, for the command palette.
import { useEffect } from 'react';
import { create } from 'zustand';

export interface Place {
  label: string;
  open: () => void;
}

export const usePlaces = create<{ places: Place[] }>(() => ({ places: [] }));

export function useOfferPlaces(places: Place[]): void {
  useEffect(() => {
    usePlaces.setState({ places });
    return () => usePlaces.setState({ places: [] });
  }, [places]);
}
