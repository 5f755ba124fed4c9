/* What phone-numbers.ts takes of libphonenumber and its metadata: of 73 files, which the package ships as one. */
export { isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js/max';
