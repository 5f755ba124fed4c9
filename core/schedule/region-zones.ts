/*
 * Regions of countries with several clocks, with their zones: no maintained library has this list. The first zone of a
 * region is the zone of nearly everybody there; other zones hold in a part of the region. Sources: 49 CFR part 71 (US), the provinces'
 * time acts (CA), the states' Standard Time Acts (AU), as in the comments of the IANA time zone database.
 */
const zonesOf: Readonly<Record<string, string>> = {
  US: `
    AL Alabama: America/Chicago
    AK Alaska: America/Anchorage America/Adak
    AS American Samoa: Pacific/Pago_Pago
    AZ Arizona: America/Phoenix America/Denver
    AR Arkansas: America/Chicago
    CA California: America/Los_Angeles
    CO Colorado: America/Denver
    CT Connecticut: America/New_York
    DE Delaware: America/New_York
    DC District of Columbia: America/New_York
    FL Florida: America/New_York America/Chicago
    GA Georgia: America/New_York
    GU Guam: Pacific/Guam
    HI Hawaii: Pacific/Honolulu
    ID Idaho: America/Boise America/Los_Angeles
    IL Illinois: America/Chicago
    IN Indiana: America/New_York America/Chicago
    IA Iowa: America/Chicago
    KS Kansas: America/Chicago America/Denver
    KY Kentucky: America/New_York America/Chicago
    LA Louisiana: America/Chicago
    ME Maine: America/New_York
    MD Maryland: America/New_York
    MA Massachusetts: America/New_York
    MI Michigan: America/Detroit America/Chicago
    MN Minnesota: America/Chicago
    MS Mississippi: America/Chicago
    MO Missouri: America/Chicago
    MP Northern Mariana Islands: Pacific/Saipan
    MT Montana: America/Denver
    NE Nebraska: America/Chicago America/Denver
    NV Nevada: America/Los_Angeles America/Denver
    NH New Hampshire: America/New_York
    NJ New Jersey: America/New_York
    NM New Mexico: America/Denver
    NY New York: America/New_York
    NC North Carolina: America/New_York
    ND North Dakota: America/Chicago America/Denver
    OH Ohio: America/New_York
    OK Oklahoma: America/Chicago America/Denver
    OR Oregon: America/Los_Angeles America/Boise
    PA Pennsylvania: America/New_York
    PR Puerto Rico: America/Puerto_Rico
    RI Rhode Island: America/New_York
    SC South Carolina: America/New_York
    SD South Dakota: America/Chicago America/Denver
    TN Tennessee: America/Chicago America/New_York
    TX Texas: America/Chicago America/Denver
    UT Utah: America/Denver
    VT Vermont: America/New_York
    VA Virginia: America/New_York
    VI Virgin Islands: America/St_Thomas
    WA Washington: America/Los_Angeles
    WV West Virginia: America/New_York
    WI Wisconsin: America/Chicago
    WY Wyoming: America/Denver`,
  CA: `
    AB Alberta: America/Edmonton
    BC British Columbia: America/Vancouver America/Edmonton America/Fort_Nelson
    MB Manitoba: America/Winnipeg
    NB New Brunswick: America/Moncton
    NL Newfoundland and Labrador: America/St_Johns America/Goose_Bay
    NS Nova Scotia: America/Halifax
    NT Northwest Territories: America/Edmonton
    NU Nunavut: America/Iqaluit America/Rankin_Inlet America/Cambridge_Bay America/Coral_Harbour
    ON Ontario: America/Toronto America/Winnipeg America/Coral_Harbour
    PE Prince Edward Island: America/Halifax
    QC Quebec: America/Toronto America/Halifax America/Blanc-Sablon
    SK Saskatchewan: America/Regina America/Edmonton
    YT Yukon: America/Whitehorse`,
  AU: `
    ACT Australian Capital Territory: Australia/Sydney
    NSW New South Wales: Australia/Sydney Australia/Broken_Hill Australia/Lord_Howe
    NT Northern Territory: Australia/Darwin
    QLD Queensland: Australia/Brisbane
    SA South Australia: Australia/Adelaide
    TAS Tasmania: Australia/Hobart
    VIC Victoria: Australia/Melbourne
    WA Western Australia: Australia/Perth Australia/Eucla`,
};

interface Regions {
  zones: ReadonlyMap<string, readonly string[]>;
  /** The region's code by its code and its name, in small letters. */
  names: ReadonlyMap<string, string>;
}

const read = new Map<string, Regions>();

/** The zones of a region by its code; undefined where they are not known. */
export function regionZones(country: string, region: string): readonly string[] | undefined {
  return regionsOf(country).zones.get(region);
}

/** The codes of a country's regions by code and name, in small letters; empty where the regions are not known. */
export function regionNames(country: string): ReadonlyMap<string, string> {
  return regionsOf(country).names;
}

function regionsOf(country: string): Regions {
  const found = read.get(country) ?? parsed(zonesOf[country] ?? '');
  read.set(country, found);
  return found;
}

function parsed(table: string): Regions {
  const rows = [...table.matchAll(/^\s*(\w+) (.+): (.+)$/gm)];
  return {
    zones: new Map(rows.map(([, code = '', , zones = '']) => [code, zones.split(' ')])),
    names: new Map(
      rows.flatMap(([, code = '', name = '']) =>
        [code, name].map((one): [string, string] => [one.toLowerCase(), code]),
      ),
    ),
  };
}
