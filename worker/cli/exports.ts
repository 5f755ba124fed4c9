/** The kinds of data that can be exported from the service. */
export const exports = ['campaigns', 'requests', 'custom-fields', 'surveys'] as const;
