// What a list shows, as exports and bulk edits take it. Without a filter, that it is all must be said.
export const matching = (filters) => (Object.keys(filters).length > 0 ? { filters } : { all: true });
