# Once per database, what an owner does before closeloop comes: the API, a role, a project, people, custom fields. Passwords come
# as JSON on standard input; what was made goes to the file CLOSELOOP_OUT.
require 'json'
given = JSON.parse($stdin.read)
Setting.rest_api_enabled = '1'
Setting.login_required = '0'
Setting.default_language = 'en'
Setting.mail_from = 'redmine@example.com'

admin = User.find_by_login('admin')
admin.password = admin.password_confirmation = given['adminPassword']
admin.must_change_passwd = false
admin.save!

project = Project.create!(name: 'Support', identifier: 'support', is_public: false, trackers: Tracker.all, enabled_module_names: ['issue_tracking'])
role = Role.create!(name: 'closeloop', issues_visibility: 'all', users_visibility: 'all',
                    permissions: %i[view_issues edit_issues add_issue_notes view_private_notes set_notes_private edit_own_issue_notes])
people = [['closeloop', 'close', 'loop', 'en'], ['no-rights', 'No', 'Rights', 'en'], ['customer', 'Zoë', 'Łuczak', 'de']].to_h do |login, first, last, language|
  user = User.new(firstname: first, lastname: last, mail: "#{login}@example.net", language: language)
  user.login = login
  user.password = user.password_confirmation = given['agentPassword']
  user.save!
  [login, user]
end
people['customer'].pref.time_zone = 'Berlin'
people['customer'].pref.save!
Member.create!(project: project, principal: people['closeloop'], roles: [role])
Member.create!(project: project, principal: people['customer'], roles: [Role.givable.where.not(name: 'closeloop').first])

fields = {
  'Feedback grade' => { field_format: 'int' },
  'Feedback choice' => { field_format: 'list', possible_values: %w[good neutral bad] },
  'Feedback comment' => { field_format: 'text' },
  'Feedback day' => { field_format: 'date' },
  'Feedback short' => { field_format: 'string', max_length: 20 },
  'Feedback sent' => { field_format: 'bool' },
  'Customer e-mail' => { field_format: 'string' }
}.to_h { |name, kind| [name, IssueCustomField.create!(kind.merge(name: name, is_for_all: true, trackers: Tracker.all, is_filter: true)).id] }

File.write(ENV.fetch('CLOSELOOP_OUT'), JSON.generate(
  fields: fields,
  keys: { admin: admin.api_key, agent: people['closeloop'].api_key, noRights: people['no-rights'].api_key },
  users: { customer: people['customer'].id, agent: people['closeloop'].id },
  statuses: IssueStatus.all.to_h { |status| [status.name, status.id] },
))
