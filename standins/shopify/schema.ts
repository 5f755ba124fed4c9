import { buildSchema } from 'graphql';

/**
 * The part of the GraphQL Admin API 2026-10 that a feedback connector has to do with, written by hand after its documentation: names,
 * types and what may be null are Shopify's. What isn't here is refused, as Shopify refuses what it doesn't know.
 */
export const schema = buildSchema(`
scalar DateTime
scalar Decimal
scalar UnsignedInt64
scalar URL
scalar CurrencyCode
scalar CountryCode

interface Node { id: ID! }
interface HasMetafields { metafield(key: String!, namespace: String): Metafield }
interface DisplayableError { field: [String!] message: String! }

type QueryRoot {
  node(id: ID!): Node
  nodes(ids: [ID!]!): [Node]!
  order(id: ID!): Order
  orders(after: String, before: String, first: Int, last: Int, query: String, reverse: Boolean = false, sortKey: OrderSortKeys = PROCESSED_AT): OrderConnection!
  shop: Shop!
  currentAppInstallation: AppInstallation!
  webhookSubscriptions(after: String, before: String, first: Int, last: Int, topics: [WebhookSubscriptionTopic!], uri: String, reverse: Boolean = false): WebhookSubscriptionConnection!
  metafieldDefinitions(after: String, before: String, first: Int, last: Int, key: String, namespace: String, ownerType: MetafieldOwnerType!, reverse: Boolean = false): MetafieldDefinitionConnection!
}

type Mutation {
  metafieldsSet(metafields: [MetafieldsSetInput!]!): MetafieldsSetPayload
  metafieldsDelete(metafields: [MetafieldIdentifierInput!]!): MetafieldsDeletePayload
  metafieldDefinitionCreate(definition: MetafieldDefinitionInput!): MetafieldDefinitionCreatePayload
  tagsAdd(id: ID!, tags: [String!]!): TagsAddPayload
  tagsRemove(id: ID!, tags: [String!]!): TagsRemovePayload
  orderUpdate(input: OrderInput!): OrderUpdatePayload
  webhookSubscriptionCreate(topic: WebhookSubscriptionTopic!, webhookSubscription: WebhookSubscriptionInput!): WebhookSubscriptionCreatePayload
  webhookSubscriptionDelete(id: ID!): WebhookSubscriptionDeletePayload
}

schema { query: QueryRoot mutation: Mutation }

type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
type UserError implements DisplayableError { field: [String!] message: String! }
type Attribute { key: String! value: String }
type MoneyV2 { amount: Decimal! currencyCode: CurrencyCode! }
type MoneyBag { presentmentMoney: MoneyV2! shopMoney: MoneyV2! }
type Shop { id: ID! name: String! myshopifyDomain: String! ianaTimezone: String! currencyCode: CurrencyCode! }
type AccessScope { description: String! handle: String! }
type App { id: ID! apiKey: String! title: String! webhookApiVersion: String! }
type AppInstallation { id: ID! app: App! accessScopes: [AccessScope!]! }
type ApiVersion { displayName: String! handle: String! supported: Boolean! }
type Location implements Node { id: ID! name: String! }

type MailingAddress implements Node {
  id: ID! firstName: String lastName: String name: String company: String address1: String address2: String city: String zip: String
  country: String countryCodeV2: CountryCode province: String provinceCode: String phone: String timeZone: String
}

type Customer implements Node {
  id: ID! firstName: String lastName: String locale: String! tags: [String!]! numberOfOrders: UnsignedInt64!
  defaultEmailAddress: CustomerEmailAddress
  defaultPhoneNumber: CustomerPhoneNumber
}
type CustomerEmailAddress { emailAddress: String! marketingState: CustomerEmailAddressMarketingState! }
type CustomerPhoneNumber { phoneNumber: String! marketingState: CustomerSmsMarketingState! smsMarketingConsent: CustomerSmsMarketingConsent! }
type CustomerSmsMarketingConsent { state: CustomerMarketingConsentState! }
enum CustomerEmailAddressMarketingState { INVALID NOT_SUBSCRIBED PENDING SUBSCRIBED UNSUBSCRIBED }
enum CustomerSmsMarketingState { NOT_SUBSCRIBED PENDING REDACTED SUBSCRIBED UNSUBSCRIBED }
enum CustomerMarketingConsentState { NEVER_SUBSCRIBED PENDING REDACTED SUBSCRIBED UNSUBSCRIBED }

type Order implements Node & HasMetafields {
  id: ID! legacyResourceId: UnsignedInt64! name: String! number: Int!
  createdAt: DateTime! updatedAt: DateTime! processedAt: DateTime! closedAt: DateTime cancelledAt: DateTime
  email: String phone: String customerLocale: String note: String tags: [String!]! discountCodes: [String!]!
  test: Boolean! sourceName: String requiresShipping: Boolean!
  displayFinancialStatus: OrderDisplayFinancialStatus
  displayFulfillmentStatus: OrderDisplayFulfillmentStatus!
  customAttributes: [Attribute!]!
  currentTotalPriceSet: MoneyBag!
  retailLocation: Location
  customer: Customer
  shippingAddress: MailingAddress
  billingAddress: MailingAddress
  fulfillments(first: Int, query: String): [Fulfillment!]!
  transactions(capturable: Boolean, first: Int, manuallyResolvable: Boolean): [OrderTransaction!]!
  lineItems(after: String, before: String, first: Int, last: Int, reverse: Boolean = false): LineItemConnection!
  metafield(key: String!, namespace: String): Metafield
}
type OrderConnection { edges: [OrderEdge!]! nodes: [Order!]! pageInfo: PageInfo! }
type OrderEdge { cursor: String! node: Order! }
enum OrderSortKeys { CREATED_AT CURRENT_TOTAL_PRICE CUSTOMER_NAME DESTINATION FINANCIAL_STATUS FULFILLMENT_STATUS ID ORDER_NUMBER PO_NUMBER PROCESSED_AT RELEVANCE TOTAL_ITEMS_QUANTITY TOTAL_PRICE UPDATED_AT }
enum OrderDisplayFinancialStatus { AUTHORIZED EXPIRED PAID PARTIALLY_PAID PARTIALLY_REFUNDED PENDING REFUNDED VOIDED }
enum OrderDisplayFulfillmentStatus { FULFILLED FULFILLMENT_NOT_REQUIRED IN_PROGRESS ON_HOLD OPEN PARTIALLY_FULFILLED PENDING_FULFILLMENT REQUEST_DECLINED RESTOCKED SCHEDULED UNFULFILLED }

type LineItem implements Node {
  id: ID! title: String! name: String! variantTitle: String sku: String vendor: String quantity: Int! currentQuantity: Int!
  isGiftCard: Boolean! requiresShipping: Boolean!
}
type LineItemConnection { edges: [LineItemEdge!]! nodes: [LineItem!]! pageInfo: PageInfo! }
type LineItemEdge { cursor: String! node: LineItem! }

type Fulfillment implements Node {
  id: ID! name: String! status: FulfillmentStatus! displayStatus: FulfillmentDisplayStatus
  createdAt: DateTime! updatedAt: DateTime! deliveredAt: DateTime requiresShipping: Boolean! totalQuantity: Int! location: Location
}
enum FulfillmentStatus { CANCELLED ERROR FAILURE OPEN PENDING SUCCESS }
enum FulfillmentDisplayStatus { ATTEMPTED_DELIVERY CANCELED CARRIER_PICKED_UP CONFIRMED DELAYED DELIVERED FAILURE FULFILLED IN_TRANSIT LABEL_PRINTED LABEL_PURCHASED LABEL_VOIDED MARKED_AS_FULFILLED NOT_DELIVERED OUT_FOR_DELIVERY PICKED_UP READY_FOR_PICKUP SUBMITTED }

type OrderTransaction implements Node { id: ID! kind: OrderTransactionKind! status: OrderTransactionStatus! createdAt: DateTime! processedAt: DateTime test: Boolean! gateway: String }
enum OrderTransactionKind { AUTHORIZATION CAPTURE CHANGE EMV_AUTHORIZATION REFUND SALE SUGGESTED_REFUND VOID }
enum OrderTransactionStatus { AWAITING_RESPONSE ERROR FAILURE PENDING SUCCESS UNKNOWN }

type Metafield implements Node { id: ID! namespace: String! key: String! type: String! value: String! compareDigest: String! createdAt: DateTime! updatedAt: DateTime! }
type MetafieldIdentifier { key: String! namespace: String! ownerId: ID! }
input MetafieldsSetInput { compareDigest: String key: String! namespace: String ownerId: ID! type: String value: String! }
input MetafieldIdentifierInput { key: String! namespace: String! ownerId: ID! }
type MetafieldsSetPayload { metafields: [Metafield!] userErrors: [MetafieldsSetUserError!]! }
type MetafieldsSetUserError implements DisplayableError { code: MetafieldsSetUserErrorCode elementIndex: Int field: [String!] message: String! }
enum MetafieldsSetUserErrorCode { APP_NOT_AUTHORIZED BLANK CAPABILITY_VIOLATION INCLUSION INTERNAL_ERROR INVALID INVALID_COMPARE_DIGEST INVALID_TYPE INVALID_VALUE LESS_THAN_OR_EQUAL_TO PRESENT STALE_OBJECT TAKEN TOO_LONG TOO_SHORT }
type MetafieldsDeletePayload { deletedMetafields: [MetafieldIdentifier] userErrors: [UserError!]! }

type MetafieldDefinition implements Node {
  id: ID! name: String! namespace: String! key: String! description: String ownerType: MetafieldOwnerType!
  type: MetafieldDefinitionType! validations: [MetafieldDefinitionValidation!]! access: MetafieldAccess! pinnedPosition: Int
}
type MetafieldDefinitionType { name: String! category: String! }
type MetafieldDefinitionValidation { name: String! type: String! value: String }
type MetafieldAccess { admin: MetafieldAdminAccess }
enum MetafieldAdminAccess { MERCHANT_READ MERCHANT_READ_WRITE PRIVATE PUBLIC_READ PUBLIC_READ_WRITE }
type MetafieldDefinitionConnection { edges: [MetafieldDefinitionEdge!]! nodes: [MetafieldDefinition!]! pageInfo: PageInfo! }
type MetafieldDefinitionEdge { cursor: String! node: MetafieldDefinition! }
enum MetafieldOwnerType { ARTICLE BLOG COLLECTION COMPANY COMPANY_LOCATION CUSTOMER DRAFTORDER LOCATION MARKET ORDER PAGE PRODUCT PRODUCTVARIANT SHOP }
input MetafieldDefinitionInput { access: MetafieldAccessInput description: String key: String! name: String! namespace: String ownerType: MetafieldOwnerType! pin: Boolean = false type: String! validations: [MetafieldDefinitionValidationInput!] }
input MetafieldDefinitionValidationInput { name: String! value: String! }
input MetafieldAccessInput { admin: MetafieldAdminAccessInput }
enum MetafieldAdminAccessInput { MERCHANT_READ MERCHANT_READ_WRITE }
type MetafieldDefinitionCreatePayload { createdDefinition: MetafieldDefinition userErrors: [MetafieldDefinitionCreateUserError!]! }
type MetafieldDefinitionCreateUserError implements DisplayableError { code: MetafieldDefinitionCreateUserErrorCode field: [String!] message: String! }
enum MetafieldDefinitionCreateUserErrorCode { ADMIN_ACCESS_INPUT_NOT_ALLOWED BLANK INCLUSION INVALID INVALID_CHARACTER INVALID_OPTION LIMIT_EXCEEDED PINNED_LIMIT_REACHED PRESENT RESERVED_NAMESPACE_KEY TAKEN TOO_LONG TOO_SHORT }

type TagsAddPayload { node: Node userErrors: [UserError!]! }
type TagsRemovePayload { node: Node userErrors: [UserError!]! }
input OrderInput { id: ID! email: String note: String phone: String poNumber: String tags: [String!] }
type OrderUpdatePayload { order: Order userErrors: [UserError!]! }

type WebhookSubscription implements Node {
  id: ID! topic: WebhookSubscriptionTopic! uri: String! format: WebhookSubscriptionFormat! filter: String includeFields: [String!]!
  name: String createdAt: DateTime! updatedAt: DateTime! apiVersion: ApiVersion!
}
type WebhookSubscriptionConnection { edges: [WebhookSubscriptionEdge!]! nodes: [WebhookSubscription!]! pageInfo: PageInfo! }
type WebhookSubscriptionEdge { cursor: String! node: WebhookSubscription! }
enum WebhookSubscriptionFormat { JSON XML }
enum WebhookSubscriptionTopic {
  APP_SCOPES_UPDATE APP_UNINSTALLED CUSTOMERS_CREATE CUSTOMERS_UPDATE FULFILLMENTS_CREATE FULFILLMENTS_UPDATE FULFILLMENT_EVENTS_CREATE
  FULFILLMENT_EVENTS_DELETE ORDERS_CANCELLED ORDERS_CREATE ORDERS_DELETE ORDERS_EDITED ORDERS_FULFILLED ORDERS_PAID
  ORDERS_PARTIALLY_FULFILLED ORDERS_UPDATED REFUNDS_CREATE SHOP_UPDATE
}
input WebhookSubscriptionInput { filter: String format: WebhookSubscriptionFormat includeFields: [String!] metafieldNamespaces: [String!] name: String uri: String }
type WebhookSubscriptionCreatePayload { webhookSubscription: WebhookSubscription userErrors: [UserError!]! }
type WebhookSubscriptionDeletePayload { deletedWebhookSubscriptionId: ID userErrors: [UserError!]! }
`);
