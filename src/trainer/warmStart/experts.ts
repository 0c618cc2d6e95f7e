/** How an expert mends: by one of the changes that `suggest` lists, which needs no quoting, or by an edit. */
export const experts = ['choose', 'edit'] as const;
export type Expert = (typeof experts)[number];
