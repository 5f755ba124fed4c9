/* What phone-numbers.ts takes of libphonenumber and its metadata: 20 MB of memory, of 70 files, which the package ships as one. */
export { isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js/max';
