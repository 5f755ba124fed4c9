/**
 * The pages of the documentation, in the order in which they are read: files of this repository. A page that is missing here is no
 * page of the site, and a test says so.
 */
export const sections: readonly { title: string; pages: readonly string[] }[] = [
  {
    title: 'Start',
    pages: ['README.md', 'docs/quick-start.md', 'docs/choose.md', 'docs/configuration.md', 'docs/going-live.md'],
  },
  {
    title: 'Vendors',
    pages: [
      'docs/zendesk.md',
      'docs/hubspot.md',
      'docs/freshdesk.md',
      'docs/intercom.md',
      'docs/shopify.md',
      'docs/woocommerce.md',
      'docs/vendure.md',
      'docs/request-tracker.md',
      'docs/webhook.md',
    ],
  },
  {
    title: 'Policy',
    pages: [
      'docs/policy.md',
      'docs/journeys.md',
      'docs/answers.md',
      'docs/webhooks-out.md',
      'docs/expressions.md',
      'docs/custom-fields.md',
    ],
  },
  {
    title: 'Operate',
    pages: [
      'docs/deploy.md',
      'docs/dashboard.md',
      'docs/operations.md',
      'docs/monitoring.md',
      'docs/alerts.md',
      'docs/reports.md',
      'docs/mail.md',
      'docs/feeding-other-tools.md',
      'docs/troubleshooting.md',
      'docs/redis.md',
      'docs/backup.md',
      'docs/upgrade.md',
      'docs/performance.md',
      'docs/security.md',
      'docs/retention.md',
    ],
  },
  { title: 'Extend', pages: ['docs/writing-a-connector.md', 'docs/library.md', 'docs/development.md'] },
  {
    title: 'Reference',
    pages: [
      'docs/reference/configuration.md',
      'docs/reference/commands.md',
      'docs/reference/records.md',
      'docs/reference/reasons.md',
      'docs/reference/assumptions.md',
      'docs/glossary.md',
      'CHANGELOG.md',
    ],
  },
];

export const pages: readonly string[] = sections.flatMap((section) => section.pages);
