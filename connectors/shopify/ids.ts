/** Ids have up to 19 digits, beyond 2^53: they are strings everywhere. */
export const isOrderId = (id: string): boolean => /^[1-9]\d{0,18}$/.test(id);

/** `5791244910855` → `gid://shopify/Order/5791244910855`, as the API calls it. */
export const orderGid = (id: string): string => `gid://shopify/Order/${id}`;

/** `gid://shopify/Order/5791244910855` → `5791244910855`. */
export const idOf = (gid: string): string => gid.slice(gid.lastIndexOf('/') + 1).replace(/\?.*$/, '');
