/** Orders have up to 19 digits, above 2^53: ids stay texts from the first byte on. */
export const isOrderId = (id: string): boolean => /^[1-9]\d{0,18}$/.test(id);

/** `5791244910855` → `gid://shopify/Order/5791244910855`, as the API calls it. */
export const orderGid = (id: string): string => `gid://shopify/Order/${id}`;

/** `gid://shopify/Order/5791244910855` → `5791244910855`. */
export const idOf = (gid: string): string => gid.slice(gid.lastIndexOf('/') + 1).replace(/\?.*$/, '');
